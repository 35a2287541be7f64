package javax.servlet.http;

public class HttpServlet {
    public void init() {}
}
